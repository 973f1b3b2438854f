// Command selectors evaluates CEL with Kubernetes' own packages: one JSON object per line of
// standard input, one JSON object {"answer", "value", "error"} per line of standard output.
//
// A device selector is {"expression", "driver", "shared", "attributes", "capacity"}; any other
// expression {"expression", "bindings", "phrases"}, the values of its variables by name, and pairs
// of a name and an expression, the `variables` of an admission policy.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	resourceapi "k8s.io/api/resource/v1"
	integers "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

type question struct {
	Expression string                                                    `json:"expression"`
	Driver     string                                                    `json:"driver"`
	Shared     bool                                                      `json:"shared"`
	Attributes map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
	Bindings   json.RawMessage                                           `json:"bindings"`
	Phrases    [][2]string                                               `json:"phrases"`
}

type answer struct {
	Answer string          `json:"answer"`
	Value  json.RawMessage `json:"value,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func judge(asked question) answer {
	compiled := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).
		CompileCELExpression(asked.Expression, cel.Options{})
	if compiled.Error != nil {
		return answer{Answer: "Invalid", Error: compiled.Error.Detail}
	}
	matches, _, err := compiled.DeviceMatches(context.Background(), cel.Device{
		Driver:                   asked.Driver,
		AllowMultipleAllocations: &asked.Shared,
		Attributes:               asked.Attributes,
		Capacity:                 asked.Capacity,
	})
	switch {
	case err != nil:
		return answer{Answer: "Aborts", Error: err.Error()}
	case matches:
		return answer{Answer: "Yes"}
	default:
		return answer{Answer: "No"}
	}
}

var programs = map[string]celgo.Program{}

// compiled returns the program of an expression about variables of any type.
func compiled(expression string, names []string) (celgo.Program, error) {
	key := strings.Join(names, " ") + "\n" + expression
	if found, ok := programs[key]; ok {
		return found, nil
	}
	options := environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0)}
	for _, name := range names {
		options.EnvOptions = append(options.EnvOptions, celgo.Variable(name, celgo.DynType))
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(options)
	if err != nil {
		return nil, err
	}
	env := set.StoredExpressionsEnv()
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	made, err := env.Program(ast)
	if err == nil {
		programs[key] = made
	}
	return made, err
}

func evaluate(asked question) answer {
	bindings := map[string]any{}
	if err := integers.Unmarshal(asked.Bindings, &bindings); err != nil {
		panic(err)
	}
	phrases := map[string]ref.Val{}
	if len(asked.Phrases) > 0 {
		bindings["variables"] = types.NewStringInterfaceMap(types.DefaultTypeAdapter, nil)
	}
	names := []string{}
	for name := range bindings {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, phrase := range asked.Phrases {
		program, err := compiled(phrase[1], names)
		if err != nil {
			return answer{Answer: "Invalid", Error: err.Error()}
		}
		bindings["variables"] = types.NewDynamicMap(types.DefaultTypeAdapter, phrases)
		// What has no value is not there: whoever asks for it has none either.
		if found, _, err := program.Eval(bindings); err == nil {
			phrases[phrase[0]] = found
		}
	}
	if len(asked.Phrases) > 0 {
		bindings["variables"] = types.NewDynamicMap(types.DefaultTypeAdapter, phrases)
	}
	program, err := compiled(asked.Expression, names)
	if err != nil {
		return answer{Answer: "Invalid", Error: err.Error()}
	}
	found, _, err := program.Eval(bindings)
	if err != nil {
		return answer{Answer: "Aborts", Error: err.Error()}
	}
	return answer{Answer: "Value", Value: spelled(found)}
}

func spelled(value ref.Val) json.RawMessage {
	native, err := value.ConvertToNative(reflect.TypeOf(&structpb.Value{}))
	if err != nil {
		text, _ := json.Marshal(fmt.Sprint(value.Type()))
		return text
	}
	text, err := protojson.Marshal(native.(*structpb.Value))
	if err != nil {
		panic(err)
	}
	return bytes.ReplaceAll(text, []byte("\n"), nil)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		told := judge
		if asked.Bindings != nil {
			told = evaluate
		}
		if err := out.Encode(told(asked)); err != nil {
			panic(err)
		}
	}
}
