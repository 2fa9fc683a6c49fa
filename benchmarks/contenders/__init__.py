"""Two published corrective-RAG flows beside Belay: same passages, embedder, web and model.

The model and the web answer at once, so what is counted and timed is the flow itself.
"""
