export class User {
  constructor(public id: number, public name: string) {}
  greet(): string {
    return `hi ${this.name}`;
  }
}
