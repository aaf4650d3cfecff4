export function useCounter(start: number) {
  let value = start;
  function increase(): number {
    value += 1;
    return value;
  }
  const reset = (): void => {
    value = start;
  };
  return { increase, reset };
}

export function useToggle(): [() => boolean, () => void] {
  let on = false;
  const isOn = (): boolean => on;
  const toggle = (): void => {
    on = !on;
  };
  return [isOn, toggle];
}
