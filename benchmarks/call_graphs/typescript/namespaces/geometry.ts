export namespace Geometry {
  const origin = 0;

  export function distance(a: number, b: number): number {
    return absolute(a - b + origin);
  }

  function absolute(value: number): number {
    return value < 0 ? -value : value;
  }

  export namespace Units {
    export const toInches = (cm: number): number => cm / 2.54;
  }

  export class Line {
    constructor(private from: number, private to: number) {}
    length(): number {
      return distance(this.from, this.to);
    }
  }
}
