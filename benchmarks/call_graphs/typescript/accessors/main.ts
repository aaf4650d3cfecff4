import { Thermometer } from './temperature';

const thermometer = new Thermometer();
thermometer.fahrenheit = 100;
console.log(thermometer.fahrenheit, thermometer.scale.toFahrenheit(1));
