// Command selectors evaluates device selectors with Kubernetes' own package: one JSON object
// {"expression", "driver", "shared", "attributes", "capacity"} per line of standard input, one
// JSON object {"answer", "error"} per line of standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

type question struct {
	Expression string                                                    `json:"expression"`
	Driver     string                                                    `json:"driver"`
	Shared     bool                                                      `json:"shared"`
	Attributes map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

type answer struct {
	Answer string `json:"answer"`
	Error  string `json:"error,omitempty"`
}

func judge(asked question) answer {
	compiled := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).
		CompileCELExpression(asked.Expression, cel.Options{})
	if compiled.Error != nil {
		return answer{"Invalid", compiled.Error.Detail}
	}
	matches, _, err := compiled.DeviceMatches(context.Background(), cel.Device{
		Driver:                   asked.Driver,
		AllowMultipleAllocations: &asked.Shared,
		Attributes:               asked.Attributes,
		Capacity:                 asked.Capacity,
	})
	switch {
	case err != nil:
		return answer{"Aborts", err.Error()}
	case matches:
		return answer{"Yes", ""}
	default:
		return answer{"No", ""}
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		if err := out.Encode(judge(asked)); err != nil {
			panic(err)
		}
	}
}
