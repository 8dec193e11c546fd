@main
struct LabContracts {
    static func main() {}
}
