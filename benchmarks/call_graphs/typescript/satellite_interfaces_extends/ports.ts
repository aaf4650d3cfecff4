export interface Readable {
  read(): string;
}

export interface Writable {
  write(text: string): void;
}

export interface Channel extends Readable, Writable {
  close(): void;
}

export class MemoryChannel implements Channel {
  private buffer = '';
  read(): string {
    return this.buffer;
  }
  write(text: string): void {
    this.buffer += text;
  }
  close(): void {
    this.write('.');
  }
}
