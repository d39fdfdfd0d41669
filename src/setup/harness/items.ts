import { HARNESS_TODO } from '../../spec/stand-in.ts'
import type { NewFile } from './skeleton.ts'

/** A harness for judges: it prints outputs, and a person has to say which. */
export function buildItemsHarness(name: string): { file: NewFile; command: string } {
  const path = `bench/${name}.sh`
  const command = `sh ${path}`
  const text = `# Prints what is to be judged, as JSON. By hand: ${command}
# ==== PRINT YOUR OUTPUTS HERE ====
# Run your code on fixed inputs, and print one item for each output:
#   node bench/outputs.mjs
# Each has an id that stays the same, and the text that a model scores.
# ${HARNESS_TODO}: delete this line once these are your outputs; check and run refuse until then.
echo '{"items": [{"id": "first-input", "content": "what your code answers"}]}'
`
  return { file: { path, text }, command }
}
