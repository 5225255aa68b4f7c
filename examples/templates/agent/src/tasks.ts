import { defineProtocol, type Factory, type Infer, type SignaturesOf, Type } from "envoi";

const Task = Type.Object({ id: Type.Integer(), text: Type.String() });

/** The tool of this agent. Models read the descriptions, and calls are validated by the schemas. */
export const Tasks = defineProtocol("tasks", {
  add: {
    description: "Adds a task to the list.",
    hints: { destructive: false },
    payload: Type.Object({ text: Type.String({ minLength: 1, maxLength: 200 }) }),
    reply: Task,
  },
  list: { description: "Lists all tasks.", hints: { readOnly: true }, reply: Type.Array(Task) },
  remove: {
    description: "Removes a task.",
    hints: { destructive: true },
    payload: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({ removed: Type.Boolean() }),
  },
});

/** Keeps the tasks in memory: **replace this by a tool of your own**. */
export const createTasks: Factory<SignaturesOf<typeof Tasks>> = () => {
  const tasks = new Map<number, Infer<typeof Task>>();
  let last = 0;
  return {
    add({ text }) {
      const task = { id: ++last, text };
      tasks.set(task.id, task);
      return task;
    },
    list: () => [...tasks.values()],
    remove: ({ id }) => ({ removed: tasks.delete(id) }),
  };
};
