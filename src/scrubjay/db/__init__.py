"""One interface per thing kept; the backends behind them are in folders of their own and only `app` names one."""
