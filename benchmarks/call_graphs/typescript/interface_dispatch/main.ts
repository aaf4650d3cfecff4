import { Box, Circle, type Shape } from './shapes';

export function total(shapes: Shape[]): number {
  let sum = 0;
  for (const shape of shapes) {
    sum += shape.area();
  }
  return sum;
}

function doubled(shape: Shape): Shape {
  return shape.scale(2);
}

total([new Circle(1), new Box(2)]);
doubled(new Box(3)).area();
doubled(new Circle(3));
