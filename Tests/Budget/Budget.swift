@main
struct Budget {
    static func main() {}
}
