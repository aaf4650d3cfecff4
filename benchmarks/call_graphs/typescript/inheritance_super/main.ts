import { Dog, Puppy } from './animals';

const rex = new Dog('rex', ['sit']);
const bit = new Puppy('bit', []);
rex.speak();
bit.speak();
rex.rest();
bit.rest();
