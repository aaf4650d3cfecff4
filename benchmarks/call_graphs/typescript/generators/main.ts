import { Node, pages, take } from './tree';

function labels(root: Node): string[] {
  const found: string[] = [];
  for (const node of take(root.walk(), 3)) {
    found.push(node.label());
  }
  return found;
}

async function all(): Promise<void> {
  for await (const page of pages()) {
    for (const node of page) {
      node.label();
    }
  }
}

const root = new Node(0);
root.children.push(new Node(1));
labels(root);
void all();
