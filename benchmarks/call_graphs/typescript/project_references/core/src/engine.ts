import { clamp } from '~/math';

export class Engine {
  speed = 0;
  accelerate(by: number): number {
    this.speed = clamp(this.speed + by);
    return this.speed;
  }
}
