class Item {
  constructor(readonly price: number, readonly count: number) {}

  total(): number {
    return this.price * this.count;
  }

  isCheap(): boolean {
    return this.price < 5;
  }
}

const byTotal = (a: Item, b: Item): number => a.total() - b.total();

function keep(item: Item): boolean {
  return item.isCheap();
}

function report(items: Item[]): number[] {
  return items
    .filter(keep)
    .sort(byTotal)
    .map((item) => item.total());
}

function grouped(items: Item[]): number {
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    groups.set(item.count, [...(groups.get(item.count) ?? []), item]);
  }
  let sum = 0;
  for (const [, members] of groups) {
    sum += members[0].total();
  }
  return sum;
}

const items = [new Item(1, 2), new Item(9, 1), new Item(3, 3)];
report(items);
grouped(items);
