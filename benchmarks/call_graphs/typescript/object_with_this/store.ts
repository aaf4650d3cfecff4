export const cart = {
  items: [] as string[],

  add(item: string) {
    this.items.push(item);
    this.changed();
    return this;
  },

  changed() {
    notify(this.items.length);
  },

  nested: {
    clear: () => cart.changed(),
  },
};

function notify(count: number): void {
  console.log(count);
}
