export class Id {
  private static last = Id.start();

  static start(): number {
    return 100;
  }

  static next(): Id {
    return new this(++Id.last);
  }

  static from(text: string): Id {
    return new Id(Id.#parse(text));
  }

  static #parse(text: string): number {
    return parseInt(text, 10);
  }

  private constructor(readonly value: number) {}

  equals(other: Id): boolean {
    return this.value === other.value;
  }

  static {
    Id.start();
  }
}
