import { cart } from './store';

cart.add('tea').add('milk');
cart.nested.clear();
