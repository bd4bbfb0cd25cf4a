import { Skeleton } from '@mantine/core'
import { useApi } from '../../../api/context.tsx'
import { useRead } from '../../../api/use-read.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Page } from '../../../parts/page.tsx'
import { FraudForm } from './fraud-form.tsx'
import { FRAUD } from './paths.ts'

/** The rules of the guard for every account that has none of its own. */
export default function Fraud() {
  const api = useApi()
  const read = useRead(FRAUD)
  return (
    <Page
      title="Fraud rules"
      lead="What the guard refuses of codes, in every account that the operator has given no rules of its own. What is left empty is as it comes."
      narrow
    >
      {!read.data && read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!read.data && !read.error && <Skeleton h={420} />}
      {read.data && (
        <FraudForm view={read.data.data} usual="As it comes" save={body => api.put(FRAUD, { body })} />
      )}
    </Page>
  )
}
