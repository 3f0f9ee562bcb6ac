import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "../text/problem.tsx";
import { SkeletonRows } from "./skeleton.tsx";

type Props<T> = {
  query: UseQueryResult<T>;
  skeleton?: ReactNode;
  /** The children show a failed refetch themselves. */
  isTold?: boolean;
  /** Shown instead of the children if the data is empty. */
  empty?: (data: T) => ReactNode | undefined | false;
  children: (data: T) => ReactNode;
};

/** Shows a query in its four states: loading, failed, empty, full. */
export function Asked<T>({ query, skeleton = <SkeletonRows />, isTold = false, empty, children }: Props<T>) {
  const { data, error, refetch } = query;
  if (data === undefined) return error ? <Problem error={error} again={() => void refetch()} /> : skeleton;
  return (
    <>
      {error && !isTold && <Problem error={error} again={() => void refetch()} />}
      {empty?.(data) || children(data)}
    </>
  );
}
