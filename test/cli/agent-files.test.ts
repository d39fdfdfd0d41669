import { expect, it } from 'vitest'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT_FILE, buildAgentFile, removeAgentBlocks } from '../../src/cli/agent-files.ts'
import { scratch } from '../git/scratch.ts'

it.each(['\n', '\r\n'])(
  "winnow's lines for agents are written once and removed again, with the line end %j",
  async end => {
    const dir = scratch()
    const file = join(dir, AGENT_FILE)
    writeFileSync(file, '# Mine\n')
    writeFileSync(file, (await buildAgentFile(dir, 'size')).text.replaceAll('\n', end))
    const again = await buildAgentFile(dir, 'size')
    expect(again.text.match(/<!-- winnow:size -->/g)).toHaveLength(1)
    expect(removeAgentBlocks(readFileSync(file, 'utf8'))).toBe(`# Mine${end}`)
  },
)
