export function makeCounter(step: number) {
  let count = 0;

  function bump(by: number): void {
    count += by;
  }

  return {
    next(): number {
      bump(step);
      return count;
    },
    reset: () => {
      bump(-count);
    },
  };
}

export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return function cached(): T {
    if (made === undefined) made = make();
    return made;
  };
}
