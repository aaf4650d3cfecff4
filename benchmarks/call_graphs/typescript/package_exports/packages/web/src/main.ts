import { quote } from '@shop/core';
import { rebate } from '@shop/core/pricing';
import { addTax } from '@shop/core/plugins/tax';

function basket(): number {
  return addTax(quote(100)) + rebate(5);
}

basket();
