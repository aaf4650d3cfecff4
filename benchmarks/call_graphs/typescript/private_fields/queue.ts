export class Queue<T> {
  #items: T[] = [];
  #waiting = new Waiting();

  push(item: T): void {
    this.#items.push(item);
    this.#notify();
  }

  #notify(): void {
    this.#waiting.wake();
  }

  get size(): number {
    return this.#count();
  }

  #count = (): number => this.#items.length;
}

class Waiting {
  #woken = 0;
  wake(): void {
    this.#woken++;
    this.#settle();
  }
  #settle(): void {}
}
