use base64::Engine;

fn main() {
    let texts = ["YQ==", "YWI=", "YWJjZGVmZ2hpamtsbQ==", "aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91IHRvZGF5Pw=="];
    let mut answer = 0u32;
    let mut output = [0u8; 64];
    for round in 0..20_000_000usize {
        let text = std::hint::black_box(texts[round % 4]);
        let size = base64::engine::general_purpose::STANDARD.decode_slice(text, &mut output).unwrap();
        answer = answer.wrapping_mul(31).wrapping_add(size as u32 + output[0] as u32);
    }
    println!("{{\"answer\": {}}}", answer);
}
