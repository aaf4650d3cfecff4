import { price } from '@app/orders';

export function checkout(): number {
  return price(10);
}

checkout();
