import { type Expr, Neg, Num, Sum } from './ast';

function isNeg(expr: Expr): expr is Neg {
  return expr.kind === 'neg';
}

export function evaluate(expr: Expr): number {
  if (expr instanceof Num) {
    return expr.asNumber();
  }
  if (isNeg(expr)) {
    return -evaluate(expr.operand());
  }
  const [left, right] = expr.sides();
  return evaluate(left) + evaluate(right);
}

function show(value: string | Num): string {
  return typeof value === 'string' ? value : String(value.asNumber());
}

evaluate(new Sum(new Num(1), new Neg(new Num(2))));
show('a');
show(new Num(1));
