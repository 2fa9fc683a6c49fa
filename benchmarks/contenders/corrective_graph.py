"""LangGraph's corrective RAG, rebuilt from the steps that its documentation describes.

https://langchain-ai.github.io/langgraph/tutorials/rag/langgraph_crag/ (kept in the repository
langchain-ai/langgraph as examples/rag/langgraph_crag.ipynb): retrieve four passages; the model
grades each of them alone; irrelevant ones are dropped; when any was dropped, the model rewords the
question and the web is searched with it; the model answers from what is left and what was found.
The paper's refinement into strips is left out there, and here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph

WEB_RESULTS = 3

_GRADE = ChatPromptTemplate.from_messages(
    [
        ("system", "Is this passage about the question? Reply with one word: yes or no."),
        ("human", "Passage:\n{passage}\n\nQuestion: {question}"),
    ]
)
_REWORD = ChatPromptTemplate.from_messages(
    [
        ("system", "Reword the question so that a web search finds its answer."),
        ("human", "{question}"),
    ]
)
_ANSWER = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer the question from the passages alone, in three sentences at most."),
        ("human", "Question: {question}\n\nPassages:\n{passages}"),
    ]
)


class CorrectiveState(TypedDict, total=False):
    question: str  # reworded before the web is searched
    documents: list[Document]
    dropped: bool  # at least one passage was graded irrelevant
    generation: str


WebSearcher = Callable[[str, int], Sequence[str]]  # (query, limit) -> texts


def build(
    retriever: BaseRetriever,
    grader: BaseChatModel,
    writer: BaseChatModel,
    search: WebSearcher,
) -> Any:  # LangGraph's compiled type has four parameters and says no more than this
    """The compiled flow. `grader` grades; `writer` rewords the question and answers it."""
    grade_chain = _GRADE | grader | StrOutputParser()
    reword_chain = _REWORD | writer | StrOutputParser()
    answer_chain = _ANSWER | writer | StrOutputParser()

    def retrieve(state: CorrectiveState) -> CorrectiveState:
        return {"documents": retriever.invoke(state["question"])}

    def grade_documents(state: CorrectiveState) -> CorrectiveState:
        kept = [
            document
            for document in state["documents"]
            if _yes(
                grade_chain.invoke(
                    {"passage": document.page_content, "question": state["question"]}
                )
            )
        ]
        return {"documents": kept, "dropped": len(kept) < len(state["documents"])}

    def transform_query(state: CorrectiveState) -> CorrectiveState:
        return {"question": reword_chain.invoke({"question": state["question"]})}

    def web_search(state: CorrectiveState) -> CorrectiveState:
        found = Document(page_content="\n".join(search(state["question"], WEB_RESULTS)))
        return {"documents": [*state["documents"], found]}

    def generate(state: CorrectiveState) -> CorrectiveState:
        passages = "\n\n".join(document.page_content for document in state["documents"])
        return {
            "generation": answer_chain.invoke({"question": state["question"], "passages": passages})
        }

    flow = StateGraph(CorrectiveState)
    for node in (retrieve, grade_documents, transform_query, web_search, generate):
        flow.add_node(node.__name__, node)
    flow.add_edge(START, "retrieve")
    flow.add_edge("retrieve", "grade_documents")
    flow.add_conditional_edges("grade_documents", _after_grading)
    flow.add_edge("transform_query", "web_search")
    flow.add_edge("web_search", "generate")
    flow.add_edge("generate", END)
    return flow.compile()


def _yes(reply: str) -> bool:
    return reply.strip().lower() == "yes"


def _after_grading(state: CorrectiveState) -> Literal["transform_query", "generate"]:
    return "transform_query" if state["dropped"] else "generate"
