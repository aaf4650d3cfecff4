import { useCounter, useToggle } from './hooks';

const { increase, reset: clear } = useCounter(1);
const [isOn, toggle] = useToggle();

export function play({ log = quiet }: { log?: (text: string) => void } = {}): void {
  increase();
  clear();
  toggle();
  if (isOn()) log('on');
}

function quiet(_text: string): void {}

play();
