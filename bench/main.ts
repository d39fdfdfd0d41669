import { actionStart } from './action.ts'
import { overhead } from './overhead.ts'
import { planning } from './plan.ts'
import { scale } from './scale.ts'
import { heading } from './table.ts'

heading('Engine overhead per experiment (ledger pushed to a bare remote)')
await overhead()

heading('What must not grow with the campaign')
await scale()

heading('What is planned from one look')
planning()

heading('How soon a job of GitHub Actions begins its work')
actionStart()
