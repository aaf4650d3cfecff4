import { addDays, today } from 'dates';

function tomorrow(): Date {
  return addDays(today(), 1);
}

tomorrow();
