package client

type Client struct{ host string }

func Dial(host string) (*Client, error) { return &Client{host}, nil }

func (c *Client) Call(method string) string { return c.host + "/" + method }
