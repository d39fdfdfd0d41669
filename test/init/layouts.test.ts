import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { choosePackage, detectProject } from '../../src/init/detect.ts'
import { draftSpec } from '../../src/init/draft.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { listPlannedFeatures } from '../../src/spec/planned-features.ts'
import { toRepository } from './a-project.ts'
import { LAYOUTS } from './layouts.ts'

describe('a project in the layout of', () => {
  it.each(Object.entries(LAYOUTS))('%s gets the spec that a maintainer would write', (_, layout) => {
    const { files, spec, writes = [], notes = [] } = layout
    const repository = toRepository(files)
    expect(choosePackage(repository.repository, {}).directory).toBe('')
    const drafted = draftSpec({
      project: repository,
      detected: detectProject(repository, undefined),
      name: 'speed',
      prefix: 'optimize',
      goal: null,
    })
    const [written, ...others] = drafted.files
    expect(parse(written?.text ?? '')).toEqual(parse(['winnow: 1', ...spec].join('\n')))
    expect(others.map(({ path }) => path)).toEqual(writes)
    expect(drafted.notes).toEqual(notes.map(note => expect.stringMatching(note)))
    const read = parseSpec(written?.text ?? '', { file: drafted.specPath })
    expect(listPlannedFeatures(read.spec)).toEqual([])
  })
})
