const TEXT: &[u8] = b"GET /wp-content/uploads/2010/03/hello-kitty-darth-vader-pink.jpg?size=big HTTP/1.1\r\n\
Host: www.kittyhell.com\r\nUser-Agent: Mozilla/5.0 (Macintosh; U; Intel Mac OS X 10.6)\r\n\
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nKeep-Alive: 115\r\n\r\n";

fn main() {
    let mut answer = 0u32;
    for _ in 0..3_000_000 {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut headers);
        let read = request.parse(std::hint::black_box(TEXT)).unwrap().unwrap();
        answer = answer.wrapping_mul(31).wrapping_add(read as u32);
    }
    println!("{{\"answer\": {}}}", answer);
}
