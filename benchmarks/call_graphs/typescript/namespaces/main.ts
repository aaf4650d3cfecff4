import { Geometry } from './geometry';
import Units = Geometry.Units;

function measure(): number {
  const line = new Geometry.Line(1, 5);
  return Units.toInches(line.length()) + Geometry.Units.toInches(Geometry.distance(1, 2));
}

measure();
