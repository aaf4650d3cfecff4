function format(value: number): string {
  return `outer ${value}`;
}

export function report(values: number[]): string[] {
  function format(value: number): string {
    return decorate(`inner ${value}`);
  }

  const decorate = (text: string): string => {
    const trim = (part: string): string => part.trim();
    return trim(text);
  };

  return values.map(format);
}

function outside(format: (value: number) => string): string {
  return format(1);
}

function hex(value: number): string {
  return value.toString(16);
}

report([1]);
outside(hex);
format(3);
