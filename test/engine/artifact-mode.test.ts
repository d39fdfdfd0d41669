import { expect, it } from 'vitest'
import { replaceArtifact } from '../../src/engine/campaign/artifacts.ts'
import { openFetched, userRepository } from '../git/scratch.ts'

it('another content of an artifact keeps the mode of its file, which no candidate may change', async () => {
  const user = userRepository()
  user.write('run.sh', 'one\n')
  user.git('add', '.')
  user.git('update-index', '--chmod=+x', 'run.sh')
  user.git('commit', '-qm', 'a program')
  const { repository, tree } = await openFetched({ remote: user.dir, local: true })
  const blob = await repository.writeBlob('two\n')
  const after = await replaceArtifact(repository, tree, { path: 'run.sh', blob })
  expect(await repository.findEntry(after, 'run.sh')).toMatchObject({ mode: '100755', oid: blob })
  const added = await replaceArtifact(repository, tree, { path: 'new.md', blob })
  expect(await repository.findEntry(added, 'new.md')).toMatchObject({ mode: '100644', oid: blob })
})
