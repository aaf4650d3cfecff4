pub struct Request {
    url: String,
    headers: Vec<(String, String)>,
    retries: u32,
}

pub struct RequestBuilder {
    request: Request,
}

impl Request {
    pub fn builder(url: &str) -> RequestBuilder {
        RequestBuilder::new(url)
    }

    pub fn send(&self) -> String {
        format!("{} {} {}", self.url, self.headers.len(), self.retries)
    }
}

impl RequestBuilder {
    fn new(url: &str) -> Self {
        RequestBuilder { request: Request { url: url.to_owned(), headers: vec![], retries: 0 } }
    }

    pub fn header(mut self, key: &str, value: &str) -> Self {
        self.request.headers.push((key.to_owned(), value.to_owned()));
        self
    }

    pub fn retries(mut self, n: u32) -> Self {
        self.request.retries = n;
        self
    }

    pub fn build(self) -> Result<Request, String> {
        validate(&self.request)?;
        Ok(self.request)
    }
}

fn validate(request: &Request) -> Result<(), String> {
    if request.url.is_empty() {
        return Err("no url".into());
    }
    Ok(())
}
