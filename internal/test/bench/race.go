//go:build race

package bench

// Raced is true under the race detector, which changes what things cost: the
// benches then prove that their sides agree and judge no figure.
const Raced = true
