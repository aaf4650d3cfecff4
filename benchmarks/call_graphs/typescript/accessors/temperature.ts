class Scale {
  toFahrenheit(celsius: number): number {
    return celsius * 1.8 + 32;
  }
}

export class Thermometer {
  private celsius = 0;
  private _scale?: Scale;

  get scale(): Scale {
    return (this._scale ??= createScale());
  }

  get fahrenheit(): number {
    return this.scale.toFahrenheit(this.celsius);
  }

  set fahrenheit(value: number) {
    this.celsius = this.clamp((value - 32) / 1.8);
  }

  private clamp(value: number): number {
    return Math.max(-273, value);
  }
}

function createScale(): Scale {
  return new Scale();
}
