export interface Handler {
  handle(input: string): string;
}

export class Upper implements Handler {
  handle(input: string): string {
    return input.toUpperCase();
  }
}

export class Lower implements Handler {
  handle(input: string): string {
    return input.toLowerCase();
  }
}
