export class Node {
  readonly children: Node[] = [];
  constructor(readonly value: number) {}

  *walk(): Generator<Node> {
    yield this;
    for (const child of this.children) {
      yield* child.walk();
    }
  }

  label(): string {
    return `#${this.value}`;
  }
}

export function* take<T>(source: Iterable<T>, count: number): Generator<T> {
  if (count <= 0) return;
  for (const item of source) {
    yield item;
    if (--count === 0) return;
  }
}

export async function* pages(): AsyncGenerator<Node[]> {
  yield [new Node(1)];
  yield [make(2)];
}

function make(value: number): Node {
  return new Node(value);
}
