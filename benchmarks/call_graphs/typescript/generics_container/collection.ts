export class Collection<T extends { id: number }> {
  private items: T[] = [];

  add(item: T): this {
    this.items.push(item);
    return this;
  }

  find(id: number): T | undefined {
    return this.items.find((item) => item.id === id);
  }

  first(): T {
    return this.items[0];
  }
}
