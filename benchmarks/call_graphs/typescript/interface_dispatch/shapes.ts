export interface Shape {
  area(): number;
  scale(by: number): Shape;
}

export class Circle implements Shape {
  constructor(private radius: number) {}
  area(): number {
    return Math.PI * square(this.radius);
  }
  scale(by: number): Shape {
    return new Circle(this.radius * by);
  }
}

export class Box implements Shape {
  constructor(private side: number) {}
  area(): number {
    return square(this.side);
  }
  scale(by: number): Shape {
    return new Box(this.side * by);
  }
}

const square = (x: number): number => x * x;
