import { useState } from 'react';
import { Button, Icon } from './Button';
import * as Layout from './Layout';

export default function App() {
  const [count, setCount] = useState(initial);

  function handlePress() {
    setCount(next(count));
  }

  return (
    <Layout.Page title={heading(count)}>
      <Button onPress={handlePress}>
        <Icon name="plus" />
      </Button>
    </Layout.Page>
  );
}

function initial(): number {
  return 0;
}

const next = (count: number): number => count + 1;

function heading(count: number): string {
  return `pressed ${count}`;
}
