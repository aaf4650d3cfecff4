import { carriers, courier } from './shipping';

function cheapest(weight: number): number {
  return Math.min(...carriers.map((carrier) => carrier.price(weight)));
}

cheapest(2);
courier.price(1);
