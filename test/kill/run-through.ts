import { expect } from 'vitest'
import type { CampaignClient } from '../support/campaign-client.ts'
import type { CommandLine } from './command-line.ts'
import type { Scene } from './scene.ts'

/** The run waits for ideas, or the campaign has stopped, whatever it kept. */
const ENDS = [0, 10, 11, 12, 13, 14, 15]

/** Killed at each of these, if it gets there, and then let run to its end. Answers where it was killed. */
export async function killedAt(
  at: Scene,
  commandLine: CommandLine,
  faults: readonly string[],
): Promise<string[]> {
  const killed: string[] = []
  for (const WINNOW_FAULT of faults) {
    const { signal, code, err } = await commandLine.run(at, ['run'], { WINNOW_FAULT })
    if (signal === 'SIGKILL') killed.push(WINNOW_FAULT)
    else expect([code, err]).toEqual([expect.toBeOneOf(ENDS), err])
  }
  const { code, err } = await commandLine.run(at, ['run'])
  expect([code, err]).toEqual([expect.toBeOneOf(ENDS), err])
  return killed
}

/** Undisturbed, in this process. Answers every fault point on the way, as often as it was reached. */
export async function undisturbed(at: Scene): Promise<string[]> {
  const reached: string[] = []
  const run = async (client: CampaignClient) => {
    await client.start()
    await client.run()
  }
  await at.look(run, point => void reached.push(point))
  return reached
}
