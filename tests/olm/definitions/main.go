// Prints the definition of the ClusterServiceVersion, as JSON: with it the API server of the tests can say what it says of a
// bundle.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/operator-framework/api/crds"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(crds.ClusterServiceVersion()); err != nil {
		log.Fatal(err)
	}
}
