// What Grafana's jfr-parser makes of jdk.ObjectAllocationSample in a file: one line of JSON. For tests/interop/run.sh
// --go-parser, as a program of the parser's module.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/jfr-parser/parser"
)

func unresolved(p *parser.Parser) int {
	trace := p.GetStacktrace(p.ObjectAllocationSample.StackTrace)
	if trace == nil {
		return 1
	}
	found := 0
	for _, frame := range trace.Frames {
		method := p.GetMethod(frame.Method)
		if method == nil || p.GetClass(method.Type) == nil || p.GetSymbolString(method.Name) == "" {
			found++
		}
	}
	return found
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := parser.NewParser(file, parser.Options{SymbolProcessor: parser.ProcessSymbols})
	events, bytes, dangling := 0, uint64(0), 0
	for {
		event, err := p.ParseEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if event == p.TypeMap.T_ALLOC_SAMPLE {
			events++
			bytes += p.ObjectAllocationSample.Weight
			dangling += unresolved(p)
		}
	}
	fmt.Printf("{\"events\": %d, \"bytes\": %d, \"unresolved\": %d}\n", events, bytes, dangling)
}
