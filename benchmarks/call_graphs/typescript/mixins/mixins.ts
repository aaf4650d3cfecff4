type Constructor<T = object> = new (...args: any[]) => T;

export function Timestamped<B extends Constructor>(Base: B) {
  return class Timestamped extends Base {
    updated = 0;
    touch(): void {
      this.updated = clock();
    }
  };
}

export function Tagged<B extends Constructor>(Base: B) {
  class TaggedClass extends Base {
    tags: string[] = [];
    tag(name: string): void {
      this.tags.push(clean(name));
    }
  }
  return TaggedClass;
}

function clock(): number {
  return 1;
}

const clean = (name: string): string => name.trim();
