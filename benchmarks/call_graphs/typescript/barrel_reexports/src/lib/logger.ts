export default class Logger {
  constructor(private scope: string) {}
  info(message: string): void {
    this.write(`[${this.scope}] ${message}`);
  }
  private write(line: string): void {
    console.log(line);
  }
}
