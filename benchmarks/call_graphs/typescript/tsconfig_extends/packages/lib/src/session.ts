export class Session {
  constructor(private name: string) {}
  token(): string {
    return this.sign(this.name);
  }
  private sign(text: string): string {
    return text;
  }
}
