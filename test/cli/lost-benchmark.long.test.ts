import { expect, it } from 'vitest'
import { clonedProject, FILES, offer, proven, SPEC } from './project.ts'

/** Benchmarks that lie where ideas may change them: one line each, its name and its time. */
const files = {
  ...FILES,
  '.winnow/size.yaml': SPEC.replace('name: bytes', 'name: geomean_ns_per_op').replace(
    'sh bench/size.sh',
    'sh bench/size.sh, output: go',
  ),
  'bench/size.sh':
    'while read -r name ns; do printf "Benchmark%s-8 \\t 100\\t %s ns/op\\n" "$name" "$ns"; done < src/value; echo PASS\n',
  'src/value': 'Quick 10\nSlow 1000\n',
}

it('an idea that drops its slowest benchmark is broken, and one that is faster in all of them is kept', async () => {
  const person = clonedProject(files)
  await person.winnow('run')
  await offer(person, 'Quick 10\n')
  await offer(person, 'Quick 9\nSlow 900\n')
  const { err } = await person.winnow('run')
  expect(err).toMatch(
    /^exp-\d+ Broken: .*the benchmarks differ from those of the base: BenchmarkSlow\.ns_per_op is missing/m,
  )
  expect(err).toMatch(/^exp-\d+ Kept: geomean_ns_per_op 100 -> 90 /m)
  await proven(person)
})
