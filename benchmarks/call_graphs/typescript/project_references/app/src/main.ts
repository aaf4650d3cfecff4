import { Engine } from '@core/engine';
import { clamp } from '~/math';

function drive(): number {
  return clamp(new Engine().accelerate(20));
}

drive();
